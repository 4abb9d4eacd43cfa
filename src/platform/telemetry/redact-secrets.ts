import { hideSecrets } from '@interlude-ai/core/elicitation/secret-shapes.ts';

export const hidden = '[hidden]';

/** For text from outside in the log: hides everything that looks like a key, a token or a password. */
export function withoutKeys(text: string): string {
  return hideSecrets(text, hidden)
    .replaceAll(/\/\/[^\s/@]{1,200}@/g, `//${hidden}@`)
    .replaceAll(/\b(Bearer|Basic) [^\s"',]{6,}/g, `$1 ${hidden}`)
    .replaceAll(
      /((?:token|secret|password|passwd|api[_-]?key|authorization)["']?[:=] ?)["']?[^\s"',]+/gi,
      `$1${hidden}`,
    )
    .replaceAll(/\b[A-Za-z0-9_+=-]{32,}/g, (word) =>
      /\d/.test(word) && /[A-Za-z]/.test(word) ? hidden : word,
    )
    .replaceAll(/\b(?:sk|pk|ghp|gho|ghs|glpat|xox[abpr])[-_][A-Za-z0-9_-]{8,}/g, hidden);
}
