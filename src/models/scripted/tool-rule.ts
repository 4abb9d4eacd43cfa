import { isDeepStrictEqual } from 'node:util';
import { errorForUser } from './error-for-user.ts';
import type { Call, Conversation, Move, Rule, ToolOutcome } from './script.ts';

interface ToolRule {
  /** What the user has to say for this rule to apply. */
  when: RegExp;
  calls: (match: RegExpExecArray) => Call[];
  /** Said once all calls have succeeded, with their outcomes in the order of the calls. */
  answer: (outcomes: ToolOutcome[]) => string;
}

/**
 * A rule that gets something done with tools named `<server>__<tool>`: connects the server first where its tools
 * are not known yet, makes the calls in parallel, answers with their results, and tells the user what went wrong.
 */
export function toolRule({ when, calls, answer }: ToolRule): Rule {
  return (conversation) => {
    const match = when.exec(conversation.userText);
    if (!match) return null;
    const wanted = calls(match).map((call) => ({ call, outcome: outcomeOf(call, conversation) }));
    const open = wanted.filter(({ outcome }) => outcome === undefined).map(({ call }) => call);
    if (open.length > 0) return attempt(open, conversation);

    const outcomes = wanted.flatMap(({ outcome }) => outcome ?? []);
    const failed = outcomes.filter(({ ok }) => !ok);
    return { say: failed.length > 0 ? apology(failed) : answer(outcomes) };
  };
}

function attempt(open: Call[], conversation: Conversation): Move {
  const calls: Call[] = [];
  const problems: string[] = [];
  for (const call of open) {
    if (conversation.tools.includes(call.tool)) {
      calls.push(call);
      continue;
    }
    const connect = { tool: `connect_${call.tool.split('__', 1)[0]}`, input: {} };
    const connected = outcomeOf(connect, conversation);
    if (connected && !connected.ok) problems.push(apology([connected]));
    else if (connected || !conversation.tools.includes(connect.tool))
      problems.push(`I have no tool called ${call.tool}.`);
    else if (!calls.some(({ tool }) => tool === connect.tool)) calls.push(connect);
  }
  return calls.length > 0 ? { calls } : { say: [...new Set(problems)].join('\n\n') };
}

function outcomeOf(call: Call, { outcomes }: Conversation): ToolOutcome | undefined {
  return outcomes.find(({ tool, input }) => tool === call.tool && isDeepStrictEqual(input, call.input ?? {}));
}

/** Two calls that failed for one reason get one apology. */
function apology(failed: ToolOutcome[]): string {
  return [...new Set(failed.map(({ text }) => errorForUser(text)))].join('\n\n');
}
