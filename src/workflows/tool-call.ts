/** Runs one tool call until the model has a result: attempts, and between them the questions that attempts end with. */
import { CancellationScope, sleep, uuid4 } from '@temporalio/workflow';
import type { Refusal } from '../elicitation/wording.ts';
import type { ApprovalAsk, QuestionOutcome, ToolApprovalAsk, TooManyOpen } from '../turn/ask.ts';
import type { ApprovalRefused, ServerCall, ToolCallInput } from '../turn/tool-call.ts';
import { refuseToolCall } from './activities.ts';
import type { ConnectAccount } from './connect-account.ts';
import type { TurnInput } from './messages.ts';
import { ServerQuestions } from './server-questions.ts';
import type { QuestionParts } from './server-questions.ts';
import type { ServerSignals } from './server-signals.ts';
import { attemptToolCall } from './tool-call-attempt.ts';
import type { RunningCall } from './tool-call-attempt.ts';

export interface ToolCallParts extends QuestionParts {
  connectAccount: ConnectAccount;
  signals: ServerSignals;
}

/** How often the user is asked, in one call, to connect an account: a server that refused two new ones refuses a third. */
const maxConnects = 2;

/** Exponential backoff for a server that asks nothing but to be called again later. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

/** Of the server's own questions; `too-many-open` itself is about those for an account. */
const questionRefusals = {
  'too-many-open': 'question-too-many',
  'too-many-in-turn': 'question-too-many-in-turn',
} as const satisfies Record<TooManyOpen, Refusal>;

export async function runToolCall(turn: TurnInput, call: ServerCall, parts: ToolCallParts): Promise<void> {
  const { toolCallId, server, tool } = call;
  const { unwritten, connectAccount, signals, whileAsking } = parts;
  const running: RunningCall = { turn, call, unwritten, scope: new CancellationScope(), isRefused: false };
  const fromServer = new ServerQuestions(
    turn,
    call,
    parts,
    (which) => void refuseWhileCalling(running, which),
  );
  let progress: Pick<ToolCallInput, 'connects' | 'round' | 'approval'> = { connects: 0, round: 0 };
  let pauses = 0;
  const answers: QuestionOutcome[] = [];

  for (;;) {
    const input = { turn, toolCallId, server, tool, ...progress, answers };
    const result = await signals.during(toolCallId, fromServer, () =>
      attemptToolCall(running, fromServer, input),
    );
    if (result === null) return refuse(running, 'failed');
    switch (result.kind) {
      case 'finished':
        return;
      case 'connection-required': {
        if (progress.connects === maxConnects) return refuse(running, 'still-refused');
        const answer = await whileAsking(toolCallId, () => connectAccount(result.ask, result.user));
        if (answer !== 'accept') return refuse(running, answer);
        progress = { ...progress, connects: progress.connects + 1 };
        continue;
      }
      case 'approval-required': {
        const { outcome, ...approval } = await askForApproval(parts, result.ask, result.user);
        if (outcome !== 'accept') return refuse(running, { kind: 'approval', refusal: outcome, ...approval });
        progress = { ...progress, approval: { ...approval, digest: result.ask.digest } };
        continue;
      }
      case 'asks': {
        progress = { ...progress, round: result.round };
        if (result.questions.length === 0) {
          await sleep(Math.min(firstPauseMs * 2 ** pauses++, longestPauseMs));
          continue;
        }
        // Updates of a call that was left open come by signal.
        const given = await signals.during(toolCallId, fromServer, () => fromServer.ask(result));
        if (typeof given === 'string') return refuse(running, questionRefusals[given]);
        answers.push(...given);
        continue;
      }
      default:
        return result satisfies never;
    }
  }
}

export async function askForApproval(
  { whileAsking, elicit, questions }: Pick<ToolCallParts, 'whileAsking' | 'elicit' | 'questions'>,
  ask: ApprovalAsk | ToolApprovalAsk,
  user: string,
) {
  const elicitationId = uuid4();
  const outcome = await whileAsking(ask.toolCallId, () => elicit(ask, user, elicitationId));
  const responseId = questions.settlement(elicitationId)?.responseId ?? null;
  return { outcome, elicitationId, responseId };
}

function refuse({ turn, call, unwritten }: RunningCall, refusal: Refusal | ApprovalRefused): Promise<void> {
  const { toolName, toolCallId, server } = call;
  const why = typeof refusal === 'string' ? refusal : `approval: ${refusal.refusal}`;
  const options = { summary: `${toolName}: ${why}` };
  return unwritten.writtenBy((outcomes) =>
    refuseToolCall.executeWithOptions(options, [{ turn, toolCallId, server, refusal, outcomes }]),
  );
}

/** The refusal is written before the call is cancelled: the first end of a call counts. */
async function refuseWhileCalling(running: RunningCall, which: TooManyOpen): Promise<void> {
  running.isRefused = true;
  await refuse(running, questionRefusals[which]).catch(() => undefined);
  running.scope.cancel();
}
