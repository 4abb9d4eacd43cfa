/** What a call asks for that an agent on the service decides by itself. Pure. */
import type { Warning } from './agent-part.ts';
import type { Call } from './call.ts';

const ofTheAgent = 'The agent’s own configuration decides.';

const settings = [
  'maxOutputTokens',
  'temperature',
  'stopSequences',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
] as const satisfies (keyof Call)[];

export function warningsFor(call: Call, isStored: boolean): Warning[] {
  const ignored = (feature: string, details = ofTheAgent): Warning => ({
    type: 'unsupported',
    feature,
    details,
  });
  const warnings = settings.filter((name) => isSet(call[name])).map((name) => ignored(name));
  if (isSet(call.tools)) warnings.push(ignored('tools', 'The agent uses its own tools, on the service.'));
  if (call.responseFormat?.type === 'json')
    warnings.push(ignored('responseFormat', 'The agent answers in text; ask for JSON in words.'));
  if ('reasoning' in call && isSet(call.reasoning) && call.reasoning !== 'provider-default')
    warnings.push(ignored('reasoning'));
  if (call.prompt.some(({ role }) => role === 'system')) {
    const details = isStored
      ? 'The conversation is stored: only the last message was sent, not these instructions.'
      : 'The agent has its own instructions; these reach it as words of the user.';
    warnings.push({ type: 'compatibility', feature: 'system message', details });
  }
  return warnings;
}

function isSet(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}
