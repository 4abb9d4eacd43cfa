/** What `--json` prints: one object, whose members are part of the program's contract. */
import { secretFields } from '../../elicitation/form/secret-fields.ts';
import type { AnsweredRound, ToolCallReport } from '../../testing/call/call-events.ts';
import type { Question } from '../../testing/answers/source.ts';
import type { Connected } from './connect-server.ts';
import { exitCodeOf } from './exit-codes.ts';
import type { ToolList } from './list-tools.ts';

function serverToJson({ server, era, version, instructions }: Connected): object {
  return { ...server, era, protocolVersion: version, ...(instructions !== undefined && { instructions }) };
}

export function listToJson(connected: Connected, { tools, problems }: ToolList): object {
  return { server: serverToJson(connected), tools, problems };
}

export function reportToJson(connected: Connected, report: ToolCallReport): object {
  const { end, rounds, ...rest } = report;
  return {
    server: serverToJson(connected),
    ...rest,
    rounds: rounds.map(roundToJson),
    end: 'questions' in end ? { ...end, questions: end.questions.map(questionToJson) } : end,
    exitCode: exitCodeOf(end),
  };
}

function roundToJson({ round, questions, answers }: AnsweredRound): object {
  return {
    round,
    questions: questions.map((question) => {
      const answer = answers.find(({ key }) => key === question.key);
      return { ...questionToJson(question), ...(answer && { answer: withoutSecrets(question, answer) }) };
    }),
  };
}

function questionToJson({ key, request }: Question): object {
  return { key, ...request };
}

function withoutSecrets(
  { request, fields }: Question,
  { action, content, by }: AnsweredRound['answers'][number],
): object {
  const secret = request.mode === 'form' ? secretFields(fields, request.requestedSchema) : [];
  const open = Object.entries(content ?? {}).map(([name, value]) => [
    name,
    secret.includes(name) ? '••••' : value,
  ]);
  return { action, ...(content && { content: Object.fromEntries(open) as object }), by };
}
