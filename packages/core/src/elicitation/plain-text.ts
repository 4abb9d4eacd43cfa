/**
 * Makes untrusted text safe to show: it cannot control a terminal, reverse the text after it, or push the text before it out
 * of sight, and so cannot pass for another author's text.
 */
export const tricks = /(?![\n\t])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu;

/** Without control characters (except line breaks and tabs) and without marks that reverse the direction of writing. */
export function plainText(text: string): string {
  return text.replaceAll(tricks, '');
}

/** Like `plainText`, on one line. */
export function plainLine(text: string): string {
  return plainText(text.replaceAll(/\p{Cc}+/gu, ' ')).trim();
}

/** Like `plainText`, for the message of a question: trimmed, with at most one empty line in a row. */
export function plainMessage(text: string): string {
  return plainText(text)
    .replaceAll(/\n\s*\n/g, '\n\n')
    .trim();
}

/** Whether the text has a visible character. */
export function isVisible(text: string): boolean {
  return /[^\s\p{Cc}\p{Cf}\p{Mn}]/u.test(text);
}
