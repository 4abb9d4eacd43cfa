/** Looking for flights, which the flight agent does: an agent elsewhere, which asks where the journey begins. */
import type { Rule } from '../../src/models/scripted/script.ts';
import { toolRule } from '../../src/models/scripted/tool-rule.ts';

const find = toolRule({
  when: /\b(?:find|look for|search)\b.*\bflights?\b(?:.*?\bto (\p{Lu}[\p{L}' -]*))?/iu,
  calls: ([, to = 'Lisbon']) => [
    { tool: 'agent__flights', input: { task: `Find a flight to ${to.trim()}.` } },
  ],
  answer: ([outcome]) =>
    outcome?.ok === true
      ? `The flight agent says:\n\n${outcome.text}`
      : `No flight was found. ${outcome?.text ?? ''}`,
});

export const flightRules: Rule[] = [find];
