/** The model's own questions to the user: calls of the tool `ask_user`. */
import { uuid4 } from '@temporalio/workflow';
import type { AskResult } from '../turn/ask.ts';
import type { QuestionCall } from '../turn/tool-call.ts';
import { finishModelQuestion } from './activities.ts';
import type { TurnInput } from './messages.ts';
import type { QuestionParts } from './server-questions.ts';

/** Asks, and stores what the model reads of it. */
export type AskModelQuestion = (call: QuestionCall) => Promise<void>;

export function createAskModelQuestion(
  turn: TurnInput,
  { questions, unwritten, elicit, whileAsking }: Omit<QuestionParts, 'inBackground'>,
): AskModelQuestion {
  let count = 0;

  return async ({ toolCallId, toolName, perTurn }) => {
    const elicitationId = uuid4();
    const isAllowed = ++count <= perTurn;
    const result = isAllowed ? await ask(toolCallId, elicitationId) : ('limit-reached' as const);
    const responseId = questions.settlement(elicitationId)?.responseId ?? null;
    const ended = { turn, toolCallId, elicitationId, responseId, result } as const;
    const options = { summary: `${toolName}: ${result}` };
    await unwritten.writtenBy((outcomes) =>
      finishModelQuestion.executeWithOptions(options, [{ ...ended, outcomes }]),
    );
  };

  async function ask(toolCallId: string, id: string): Promise<AskResult | 'no-user'> {
    const { user } = turn;
    if (user === null) return 'no-user';
    return whileAsking(toolCallId, () => elicit({ kind: 'model', toolCallId, agent: turn.agent }, user, id));
  }
}
