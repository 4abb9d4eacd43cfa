import { expect } from 'vitest';
import type { WidgetPageSetup } from './widget-page.ts';

/** Bob declines through the API, beside his page. */
export async function declineElsewhere({ service }: WidgetPageSetup, conversationId: string): Promise<void> {
  const bob = await service.as('bob');
  const { body } = await bob.request(
    'GET',
    `/run/v1/conversations/${conversationId}/elicitations?status=pending`,
  );
  const [question] = (body as { items: { elicitationId: string }[] }).items;
  const elicitationId = question?.elicitationId ?? '';
  const answer = { conversationId, elicitationId, action: 'decline' };
  const { status } = await bob.request('POST', '/run/api/elicitation-responses', answer);
  expect(status).toBeLessThan(300);
}
