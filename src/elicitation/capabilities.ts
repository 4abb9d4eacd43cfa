import type { Mode } from './elicitation.ts';

/** Which kinds of question the caller declared it can put in front of a person. */
export type Capabilities = Record<Mode, boolean>;

export const cannotAsk: Capabilities = { url: false, form: false };

export function canPresent(mode: Mode, capabilities: Capabilities): boolean {
  return capabilities[mode];
}

/**
 * Reads `x-supports-elicitation`: `true` for both modes, or a comma-separated list of modes.
 * Absent and `false` mean "cannot"; other words are refused before they come here.
 */
export function parseCapabilities(header: string | undefined): Capabilities {
  const words = new Set((header ?? '').split(',').map((word) => word.trim().toLowerCase()));
  const all = words.has('true');
  return { url: all || words.has('url'), form: all || words.has('form') };
}
