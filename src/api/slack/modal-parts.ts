/** Builds what a Slack window shows of a question. Pure. */
import { answerAddress } from '../../elicitation/account-pages.ts';
import { whoAsks } from '../../elicitation/asker.ts';
import type { ElicitationRequest } from '../../elicitation/elicitation.ts';
import type { OwnQuestion } from '../../service/slack/questions.ts';
import type { ModalParts } from '../../slack/blocks/question-modal.ts';
import type { SlackContext } from './context.ts';

export function modalPartsOf(
  { http, service }: Pick<SlackContext, 'http' | 'service'>,
  { question: { id, request, deadline }, isAboutAccount }: OwnQuestion,
): ModalParts {
  return {
    question: { id, request, deadline, isAboutAccount },
    askedBy: titlesOfAskers(service, request),
    page: answerAddress(http.publicUrl, id),
  };
}

/** The agent, then those it delegated to, as people know them. */
export function titlesOfAskers(
  { agents }: Pick<SlackContext['service'], 'agents'>,
  { context }: Pick<ElicitationRequest, 'context'>,
): string[] {
  return whoAsks(context).map((agent) => agents.get(agent)?.title ?? agent);
}
