/** Shared by the tools. Folders below tools/ hold no tools. Takes the place of a client of your systems. */
import { appendFile } from 'node:fs/promises';

/** In the folder in which the service runs. */
const notebook = () => process.env['DESK_NOTEBOOK'] ?? 'notebook.txt';

export async function note(line: string): Promise<void> {
  await appendFile(notebook(), `${line}\n`);
}
