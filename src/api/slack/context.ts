/** What every handler of Slack's requests gets, and what several of them say about a question. */
import type { Logger } from 'pino';
import type { Config } from '../../platform/config/config.ts';
import type { Service } from '../../service/service.ts';
import type { SlackService, SlackWorkspace } from '../../service/slack/slack-service.ts';
import { answerAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { whoAsks } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { OwnQuestion } from '../../service/slack/questions.ts';
import type { ModalParts } from './blocks/modals.ts';
import type { Question } from '../../service/questions.ts';
import { settledWords } from './vocabulary/blocks/question-message.ts';
import { slackWords } from './vocabulary/words.ts';
import type { SlackWords } from './vocabulary/words.ts';

export interface SlackContext {
  slack: SlackService;
  service: Service;
  http: Config['http'];
  logger: Logger;
}

/** In the language of the person. */
export async function wordsFor(workspace: SlackWorkspace, slackUser: string): Promise<SlackWords> {
  return slackWords[await workspace.languageOf(slackUser)];
}

export function modalPartsOf(
  words: SlackWords,
  { http, service }: SlackContext,
  { question: { id, request, deadline }, isAboutAccount }: OwnQuestion,
): ModalParts {
  return {
    words,
    question: { id, request, deadline, isAboutAccount },
    askedBy: titlesOfAskers(service, request),
    page: answerAddress(http.publicUrl, id),
  };
}

/** Titles of the agent and those it delegated to. */
export function titlesOfAskers(
  { agents }: Service,
  { context }: Pick<ElicitationRequest, 'context'>,
): string[] {
  return whoAsks(context).map((agent) => agents.get(agent)?.title ?? agent);
}

/** For a question that the person opens after it was settled. */
export async function settledSince(
  words: SlackWords,
  { questions }: SlackService,
  { id, request, status, because }: Question,
): Promise<string> {
  const isElsewhere = await questions.wasSettledElsewhere(id);
  const settled = { ...request, status, ...(because !== null && { because }) };
  return words.settledAlready(settledWords(words, settled, isElsewhere));
}
