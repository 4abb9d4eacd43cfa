/** The app's home: published when a person opens it, and after what they do in Slack. */
import type { View } from '@slack/types';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { homeView, strangerHomeView, unlinkedHomeView } from './blocks/home-view.ts';
import type { HomeConnection } from './blocks/home-view.ts';
import type { OwnConnection } from '../../service/connections.ts';
import type { UserPrincipal } from '../../service/principal.ts';
import { profileOf } from '../../remote/slack.ts';
import type { SlackWords } from './vocabulary/words.ts';
import { titlesOfAskers, wordsFor } from './context.ts';
import type { SlackContext } from './context.ts';

export async function publishHome(
  context: SlackContext,
  workspace: SlackWorkspace,
  slackUser: string,
): Promise<void> {
  const { team, tenant } = workspace;
  const principal = await context.slack.links.principalOf({ team, slackUser }, tenant);
  const words = await wordsFor(workspace, slackUser);
  const view = principal
    ? await ownView(words, context, principal)
    : await viewForStranger(words, workspace, slackUser);
  if (view) await workspace.client.views.publish({ user_id: slackUser, view });
}

async function ownView(
  words: SlackWords,
  { service, http }: SlackContext,
  principal: UserPrincipal,
): Promise<View> {
  const [questions, connections] = await Promise.all([
    service.questionsOf(principal),
    service.connections.list(principal),
  ]);
  return homeView(words, {
    questions: questions.toReversed().map(({ id, request, deadline }) => ({
      question: { id, request, deadline },
      askedBy: titlesOfAskers(service, request),
    })),
    connections: connections.filter(({ isInUse }) => isInUse).map(toHome),
    publicUrl: http.publicUrl,
  });
}

function toHome({ serverTitle, scope, state }: OwnConnection): HomeConnection {
  const status = state.status === 'active' ? 'connected' : state.status;
  return { title: serverTitle, status, isShared: scope === 'project' };
}

/** Null for bots and deactivated users. */
async function viewForStranger(
  words: SlackWords,
  workspace: SlackWorkspace,
  slackUser: string,
): Promise<View | null> {
  const { kind } = await profileOf(workspace, slackUser);
  switch (kind) {
    case 'member':
      return unlinkedHomeView(words);
    case 'guest':
    case 'external':
      return strangerHomeView(words.strangers[kind]);
    case 'bot':
    case 'gone':
      return null;
    default:
      return kind satisfies never;
  }
}
