/**
 * Sentences about failures, as templates with the names of their data: `{server}` is replaced by that of the failure, and a part in
 * brackets is left out if one of its data is absent. A language is a table of such sentences, whose names the compiler checks. Pure.
 */
import type { AccountTrouble } from './account-trouble.ts';
import type { CallFailure } from './call-failure.ts';
import type { ServerTrouble } from './server-trouble.ts';
import type { CodedFailure, TurnFailure } from './turn-failure.ts';

interface Coded {
  code: string;
}

/** A function chooses between templates. */
type Sentence<Data> = string | ((data: Data) => string);

/** The failures with this code. */
type Of<Failure extends Coded, Code> = Failure extends { code: infer Own }
  ? Code extends Own
    ? Failure
    : never
  : never;

/** Most failures have one sentence. That of others depends on more: `form.expired`. */
type KeyOf<Failure extends Coded> = Failure extends CallFailure ? CallKey : Failure['code'];
type CodeOf<Key> = Key extends `${infer Code}.${string}` ? Code : Key;

export type Sentences<Failure extends Coded> = {
  [Key in KeyOf<Failure>]: Sentence<Of<Failure, CodeOf<Key>>>;
};

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

type MembersOf<Failure> = Failure extends unknown ? keyof Failure : never;

type Checked<Failure extends Coded, Table> = {
  [Key in keyof Table]: NamesIn<Table[Key]> extends MembersOf<Of<Failure, CodeOf<Key>>> | 'untouched'
    ? Table[Key]
    : never;
};

export const callSentences = <const Table extends Sentences<CallFailure>>(
  table: Table & Checked<CallFailure, Table>,
): Sentences<CallFailure> => table;

export const troubleSentences = <const Table extends Sentences<ServerTrouble>>(
  table: Table & Checked<ServerTrouble, Table>,
): Sentences<ServerTrouble> => table;

export const accountSentences = <const Table extends Sentences<AccountTrouble>>(
  table: Table & Checked<AccountTrouble, Table>,
): Sentences<AccountTrouble> => table;

export const turnSentences = <const Table extends Sentences<CodedFailure>>(
  table: Table & Checked<CodedFailure, Table>,
): Sentences<CodedFailure> => table;

export function sayTrouble(sentences: Sentences<ServerTrouble>, trouble: ServerTrouble): string {
  const quoted = trouble.code === 'task_refused' && { words: JSON.stringify(trouble.words) };
  return fill(sentences[trouble.code] as Sentence<ServerTrouble>, trouble, { ...trouble, ...quoted });
}

export function sayAccountTrouble(sentences: Sentences<AccountTrouble>, trouble: AccountTrouble): string {
  return fill(sentences[trouble.code] as Sentence<AccountTrouble>, trouble);
}

export function sayTurnFailure(sentences: Sentences<CodedFailure>, failure: TurnFailure): string {
  return 'message' in failure
    ? failure.message
    : fill(sentences[failure.code] as Sentence<CodedFailure>, failure);
}

/** The sentences that are parts of those about calls. */
interface Parts {
  sentences: Sentences<CallFailure>;
  /** What did not happen if a call was refused. `notRun`: for an agent's own tool. */
  untouched: string;
  notRun: string;
  /** Of an agent that ended without a failure. */
  stopped: string;
  trouble: (trouble: ServerTrouble) => string;
  accountTrouble: (trouble: AccountTrouble) => string;
  turnFailure: (failure: TurnFailure) => string;
}

export function sayCallFailure(parts: Parts, failure: CallFailure): string {
  const data: Record<string, unknown> = {
    ...failure,
    untouched: 'server' in failure && failure.server !== null ? fill(parts.untouched, failure) : parts.notRun,
  };
  if (failure.code === 'approval' && failure.reason !== undefined)
    data['reason'] = JSON.stringify(failure.reason);
  if (failure.code === 'no_tool') data['tools'] = failure.tools.join(', ');
  if (failure.code === 'account_unusable') data['trouble'] = parts.accountTrouble(failure.trouble);
  else if ('trouble' in failure && failure.trouble) data['trouble'] = parts.trouble(failure.trouble);
  if (failure.code === 'no_answer')
    data['failure'] = failure.failure ? parts.turnFailure(failure.failure) : parts.stopped;
  return fill(parts.sentences[keyOf(failure)] as Sentence<CallFailure>, failure, data);
}

type CallKey = ReturnType<typeof keyOf>;

function keyOf(failure: CallFailure) {
  switch (failure.code) {
    case 'account':
      return `account.${failure.why}` as const;
    case 'approval':
      return `approval.${failure.why}` as const;
    case 'form':
      return `form.${failure.why}` as const;
    case 'frontend_tool':
      return `frontend_tool.${failure.why}` as const;
    case 'page_not_opened':
      return `page_not_opened.${failure.why}` as const;
    case 'not_handed_on':
      return `not_handed_on.${failure.why}` as const;
    case 'too_many_questions':
      return `too_many_questions.${failure.limitOf}` as const;
    case 'too_many_rounds':
      return `too_many_rounds.${failure.what}` as const;
    case 'unfinished':
      return `unfinished.${unfinishedState(failure)}` as const;
    default:
      return failure.code;
  }
}

/** A superseded turn only waited for people, also in started calls: those that hold a connection, and tools in TypeScript. */
function unfinishedState({ end, state }: Extract<CallFailure, { code: 'unfinished' }>) {
  const isReplaced = end === 'superseded';
  if (state === 'delegated') return isReplaced ? 'delegated_replaced' : 'delegated';
  if (state === 'paused' || (state === 'started' && isReplaced))
    return isReplaced ? 'waiting_replaced' : 'waiting';
  if (state === 'started') return 'started';
  return isReplaced ? 'not_run_replaced' : 'not_run';
}

/** `data`: the failure's own unless given. */
function fill<Failure extends object>(
  sentence: Sentence<Failure>,
  failure: Failure,
  data: object = failure,
): string {
  const known = new Map(
    Object.entries(data).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );
  const template = typeof sentence === 'function' ? sentence(failure) : sentence;
  return template
    .replaceAll(/\[([^[\]]*)\]/g, (_, part: string) =>
      Array.from(part.matchAll(placeholder)).every(([, name]) => known.has(name ?? '')) ? part : '',
    )
    .replaceAll(placeholder, (_, name: string) => String(known.get(name) ?? ''));
}

const placeholder = /\{(\w+)\}/g;
