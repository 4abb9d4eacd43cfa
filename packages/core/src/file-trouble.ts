/** Why a file cannot be read: a sentence that begins with the name of the file. */
export function fileTrouble(file: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
      return `${file} does not exist`;
    case 'EISDIR':
      return `${file} is a folder`;
    case 'EACCES':
    case 'EPERM':
      return `${file} may not be read by this user`;
    default:
      return `${file} cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
  }
}
