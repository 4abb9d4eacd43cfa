/** `@interlude-ai/kit`: calls tools that ask, in tests, with a client of either SDK generation. */
export { answerFrom, decideFrom } from './answers/answer-from.ts';
export type { Decide, Decided, GivenAnswer } from './answers/answer-from.ts';
export { fixtureAnswers, fixtureFile } from './answers/fixture.ts';
export type { Fixture } from './answers/fixture.ts';
export { responder } from './answers/responder.ts';
export type { ResponderOptions } from './answers/responder.ts';
export { declineAll, SourceError } from './answers/source.ts';
export type { Answer, AnswerSource, Question, Round } from './answers/source.ts';
export type { AnyClient, ToolToCall } from './call/any-client.ts';
export type {
  AnsweredRound,
  CallEnd,
  CallEvent,
  LogLine,
  Progress,
  ToolCallReport,
} from './call/call-events.ts';
export { callTool } from './call/call-tool.ts';
export type { CallToolOptions } from './call/call-tool.ts';
export type { Clause, Fault } from './call/fault.ts';
export { buildRetry, readServerAnswer, recognizeInputRequired } from './call/read-answer.ts';
export type { Era, ReadOptions, ServerAnswer } from './call/read-answer.ts';
export { readCassette, toText } from './cassette/cassette.ts';
export type { Cassette, Exchange, Said } from './cassette/cassette.ts';
export { record } from './cassette/record.ts';
export type { Recorder, RecordOptions } from './cassette/record.ts';
export type { Difference } from './cassette/replay-server.ts';
export { replay, replayCalls } from './cassette/replay.ts';
export type { Replay, ReplayedCalls } from './cassette/replay.ts';
export { matchers } from './matchers/matchers.ts';
export type { ExpectedQuestion, ToolCallMatchers } from './matchers/matchers.ts';
