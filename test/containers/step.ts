/** Says what is done, and how long it took. */
export const say = (line: string) => void process.stdout.write(`${line}\n`);

export async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  say(`${what} …`);
  const from = performance.now();
  const result = await work();
  say(`${what}: ${Math.round((performance.now() - from) / 1000)} s`);
  return result;
}
