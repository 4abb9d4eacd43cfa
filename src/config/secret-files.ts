/** Variables that are read from files, as container platforms mount secrets: `NAME_FILE` holds the path of NAME's value. */
import { readFileSync } from 'node:fs';

const ending = '_FILE';

/**
 * Adds what stands in the files, without the newline at the end. `isOurs`: variables of the service itself, whose
 * mistakes are added to `problems`; for any other, who needs it says that it is not set.
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
    const value = contentOf(file);
    if (value !== null && value !== '') filled[variable] = value;
    else if (isOurs(variable))
      problems.push(
        `${name}: ${file} ${value === null ? 'cannot be read' : 'is empty'}; write the path of a file with the value of ${variable}`,
      );
  }
  return filled;
}

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return null;
  }
}
