/** The app's home: shown when somebody opens it, and again after what they do in Slack. */
import type { View } from '@slack/types';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { homeView, strangerHomeView, unlinkedHomeView } from '../../slack/blocks/home-view.ts';
import type { HomeConnection } from '../../slack/blocks/home-view.ts';
import type { OwnConnection } from '../connections.ts';
import type { Principal, UserPrincipal } from '../principal.ts';
import type { Question } from '../questions.ts';
import { titlesOfAskers } from './find-asked.ts';
import type { AskedParts } from './find-asked.ts';
import { strangerWords } from './messages.ts';
import { profileOf } from './who.ts';

export interface HomeService extends AskedParts {
  questionsOf(principal: Principal): Promise<Question[]>;
  connectionsOf(principal: Principal): Promise<OwnConnection[]>;
}

export async function publishHome(
  parts: HomeService,
  workspace: SlackWorkspace,
  slackUser: string,
): Promise<void> {
  const person = await parts.links.linked({ team: workspace.team, slackUser });
  const view =
    person?.tenant === workspace.tenant
      ? await ownView(parts, { kind: 'user', tenant: person.tenant, user: person.user })
      : await viewForStranger(workspace, slackUser);
  if (view) await workspace.client.views.publish({ user_id: slackUser, view });
}

async function ownView(parts: HomeService, principal: UserPrincipal): Promise<View> {
  const [questions, connections] = await Promise.all([
    parts.questionsOf(principal),
    parts.connectionsOf(principal),
  ]);
  return homeView({
    questions: questions.toReversed().map(({ id, request, deadline }) => ({
      question: { id, request, deadline },
      askedBy: titlesOfAskers(parts.config, request),
    })),
    connections: connections.filter(({ isInUse }) => isInUse).map(toHome),
    publicUrl: parts.config.http.publicUrl,
  });
}

function toHome({ serverTitle, scope, state }: OwnConnection): HomeConnection {
  const status = state.status === 'active' ? 'connected' : state.status;
  return { title: serverTitle, status, isShared: scope === 'project' };
}

/** Null: it is nobody who reads it. */
async function viewForStranger(workspace: SlackWorkspace, slackUser: string): Promise<View | null> {
  const { kind } = await profileOf(workspace, slackUser);
  switch (kind) {
    case 'member':
      return unlinkedHomeView();
    case 'guest':
    case 'external':
      return strangerHomeView(strangerWords[kind]);
    case 'bot':
    case 'gone':
      return null;
    default:
      return kind satisfies never;
  }
}
