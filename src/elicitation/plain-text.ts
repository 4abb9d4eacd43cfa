/**
 * A stranger's words, as they can be shown anywhere without being taken for somebody else's: they cannot rewrite the
 * screen, turn around what follows them, or push what stands before them out of sight.
 */
export const tricks = /(?![\n\t])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu;

/** Without control codes (line breaks and tabs stay) and without marks that reverse the direction of writing. */
export function plainText(text: string): string {
  return text.replaceAll(tricks, '');
}

/** As `plainText`, on one line. */
export function plainLine(text: string): string {
  return plainText(text.replaceAll(/\p{Cc}+/gu, ' ')).trim();
}

/** As `plainText`, for what stands above a question: at most one empty line in a row, none around it. */
export function plainMessage(text: string): string {
  return plainText(text)
    .replaceAll(/\n\s*\n/g, '\n\n')
    .trim();
}

/** Whether there is anything to see. */
export function isVisible(text: string): boolean {
  return /[^\s\p{Cc}\p{Cf}\p{Mn}]/u.test(text);
}
