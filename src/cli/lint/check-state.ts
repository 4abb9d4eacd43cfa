/**
 * Whether a retry stands by itself (2026-07-28): over another connection, again, when the answer to it got lost, and with a
 * state that somebody has changed on the way. All of them decline what was asked.
 */
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { sendCall } from '../../testing/call/any-client.ts';
import type { ToolToCall } from '../../testing/call/any-client.ts';
import { questionsIn } from './inspect-question.ts';
import type { Seen } from './rules.ts';
import type { Session, Sessions } from './session.ts';

const timeoutMs = 30_000;

export async function checkState(sessions: Sessions, tool: ToolToCall): Promise<Seen[]> {
  const first = await send(await sessions.current(), tool, {});
  const state = isRecord(first) ? first['requestState'] : undefined;
  const questions = questionsIn({ result: first });
  if (typeof state !== 'string' || state === '' || questions.length === 0) return [];
  const question = String(questions[0]?.params['message']);
  const inputResponses = Object.fromEntries(questions.map(({ key }) => [key, { action: 'decline' }]));

  const session = await sessions.another();
  try {
    const retry = { inputResponses, requestState: state };
    if ((await send(session, tool, retry)) === null)
      return [
        { rule: 'unstable-state', question, message: 'It refuses its own state over another connection.' },
      ];
    if ((await send(session, tool, retry)) === null)
      return [{ rule: 'unstable-state', question, message: 'It takes its state only once.' }];
    const changed = await send(session, tool, { inputResponses, requestState: altered(state) });
    if (changed !== null && !isRefusal(changed))
      return [
        {
          rule: 'state-unprotected',
          question,
          message: 'It goes on with a state that was changed on the way.',
        },
      ];
    return [];
  } finally {
    await session.close().catch(() => undefined);
  }
}

/** The result as it came; null for a refusal. */
async function send(session: Session, tool: ToolToCall, more: object): Promise<unknown> {
  session.heard();
  const { name, arguments: input = {} } = tool;
  const signal = AbortSignal.timeout(timeoutMs);
  await sendCall(session.client, tool, { name, arguments: input, ...more }, signal).catch(() => null);
  const answer = session.heard().findLast((message) => 'result' in message || 'error' in message);
  return answer?.['result'] ?? null;
}

function isRefusal(result: unknown): boolean {
  return isRecord(result) && result['isError'] === true;
}

/** Another letter in the middle: the last ones of an encoding may mean nothing. */
function altered(state: string): string {
  const at = Math.floor(state.length / 2);
  return state.slice(0, at) + (state[at] === 'x' ? 'y' : 'x') + state.slice(at + 1);
}
