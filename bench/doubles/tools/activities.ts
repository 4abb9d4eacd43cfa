/** One line for each effect, so that effects can be counted. */
import { appendFile } from 'node:fs/promises';

export async function book(nights: number): Promise<void> {
  await appendFile(process.env['BENCH_BOOKINGS'] ?? '/dev/null', `${nights}\n`);
}
