/** How a question is answered from within Slack. Pure. */
import { isApproval } from '../elicitation/approval.ts';
import type { ElicitationRequest } from '../elicitation/elicitation.ts';
import type { Field } from '../elicitation/form/field.ts';
import { readRequestedSchema } from '../elicitation/form/requested-schema.ts';
import { wantsSecret } from '../elicitation/form/secret-fields.ts';
import { inspectUrl, isSafeToOpen } from '../elicitation/url-safety.ts';
import { escapeText } from './text/mrkdwn.ts';
import { fieldInput } from './blocks/field-input.ts';

export type AskedInSlack =
  /** On our page only: an account, a secret, or what Slack cannot show as it is. */
  | { kind: 'page' }
  | { kind: 'form'; fields: Field[] }
  | { kind: 'approval'; arguments: string; toolName: string | undefined }
  | { kind: 'link'; url: string; host: string };

export interface SlackQuestion {
  id: string;
  request: ElicitationRequest;
  /** In epoch milliseconds. */
  deadline: number;
  isAboutAccount: boolean;
}

/** Of three thousand characters each; with the most fields that a form has, a window holds a third more. */
const longestMessage = 20 * 3_000;
/** Of a button. */
const longestUrl = 2_900;

export function askedInSlack({ request, isAboutAccount }: SlackQuestion): AskedInSlack {
  if (isAboutAccount || request.message.length > longestMessage) return { kind: 'page' };
  if (request.mode === 'url') {
    const { url } = request;
    const inspected = inspectUrl(url);
    const isShowable = inspected.kind === 'ok' && isSafeToOpen(url) && escapeText(url).length <= longestUrl;
    return isShowable ? { kind: 'link', url, host: inspected.host } : { kind: 'page' };
  }
  const { context, requestedSchema } = request;
  if (isApproval(context))
    return { kind: 'approval', arguments: context.arguments ?? '', toolName: context.toolName };
  const form = readRequestedSchema(requestedSchema);
  // Whatever is typed into Slack is Slack's to read.
  if (form.kind === 'unsupported' || wantsSecret(request)) return { kind: 'page' };
  const isCarried = form.fields.every((field) => fieldInput(field, '') !== null);
  return isCarried ? { kind: 'form', fields: form.fields } : { kind: 'page' };
}
