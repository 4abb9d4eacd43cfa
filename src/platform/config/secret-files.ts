/**
 * Variables that are read from files, for secrets mounted by container platforms: `NAME_FILE` is the path of a file
 * with NAME's value.
 */
import { readFileSync, statSync } from 'node:fs';
import { fileTrouble } from '@interlude-ai/core/file-trouble.ts';

const ending = '_FILE';

/**
 * Adds the content of the files, without the newline at the end. `isOurs`: variables of the service itself, whose
 * problems are added to `problems`. Other variables are reported as missing by the code that needs them.
 */
export function readSecretFiles(
  env: Record<string, string>,
  isOurs: (name: string) => boolean,
  problems: string[],
): Record<string, string> {
  const filled = { ...env };
  for (const [name, file] of Object.entries(env)) {
    const variable = name.slice(0, -ending.length);
    if (!name.endsWith(ending) || variable === '') continue;
    if (env[variable] !== undefined) {
      if (isOurs(variable)) problems.push(`${name}: ${variable} is set as well; remove one of them`);
      continue;
    }
    const read = readContent(file);
    if ('text' in read && read.text !== '') filled[variable] = read.text;
    else if (isOurs(variable))
      problems.push(
        `${name}: ${'text' in read ? `${file} is empty` : fileTrouble(file, read.error)}; write the path of a file with the value of ${variable}`,
      );
  }
  return filled;
}

/** The values of `readSecretFiles`, read again from files that have changed. */
export function currentSecrets(
  env: Record<string, string>,
  filled: Record<string, string>,
): (name: string) => string | undefined {
  const files = new Map<string, () => string>();
  for (const [name, value] of Object.entries(filled)) {
    const file = env[name] === undefined ? env[name + ending] : undefined;
    if (file !== undefined) files.set(name, watchedFile(file, value));
  }
  return (name) => files.get(name)?.() ?? filled[name];
}

/**
 * The content of a file, read again when it has changed. While the file is unreadable or empty, for example during its
 * replacement, the last content counts.
 */
export function watchedFile(file: string, content = contentOf(file) ?? ''): () => string {
  let last = { state: stateOf(file), content };
  return () => {
    const state = stateOf(file);
    if (state === last.state) return last.content;
    const read = contentOf(file);
    if (read !== null && read !== '') last = { state, content: read };
    return last.content;
  };
}

/** Follows links: platforms replace a mounted secret by moving a link. */
function stateOf(file: string): string {
  const state = statSync(file, { throwIfNoEntry: false });
  return state ? `${state.ino} ${state.mtimeMs} ${state.size}` : '';
}

function contentOf(file: string): string | null {
  const read = readContent(file);
  return 'text' in read ? read.text : null;
}

function readContent(file: string): { text: string } | { error: unknown } {
  try {
    return { text: readFileSync(file, 'utf8').replace(/\r?\n$/, '') };
  } catch (error) {
    return { error };
  }
}
