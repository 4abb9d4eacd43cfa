/** The slash command `/interlude …`, over HTTP or the socket. Only the person who typed it sees the answer. */
import { z } from 'zod';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { mentionsIn } from './vocabulary/read-event.ts';
import type { UserPrincipal } from '../../service/principal.ts';
import { profileOf } from './vocabulary/client.ts';
import { ProblemError } from '../http/problems.ts';
import { parseInput } from '../http/validation.ts';
import type { SlackContext } from './context.ts';
import { offerLink } from './notice.ts';
import { notShownWords, stopWords } from './refusals.ts';

export interface SlackCommand {
  channel: string;
  slackUser: string;
  text: string;
}

export async function runCommand(
  context: SlackContext,
  workspace: SlackWorkspace,
  command: SlackCommand,
): Promise<string> {
  const [word = '', ...rest] = command.text.trim().split(/\s+/);
  switch (word.toLowerCase()) {
    case 'agent':
      return agent(context, workspace, command, rest.join(' '));
    case 'link':
      return link(context, workspace, command);
    case 'unlink':
      return unlink(context, workspace, command);
    case 'stop':
      return stop(context, workspace, command);
    case 'questions':
      return questions(context, workspace, command);
    default:
      return help;
  }
}

const help = [
  'Mention me in a channel, or write to me directly. In the thread of my answer you need not mention me again.',
  '• `/interlude questions` – what waits for you',
  '• `/interlude stop` – ends what I am doing for you in this channel',
  '• `/interlude link`, `/interlude unlink` – whose accounts I use for you',
  '• `/interlude agent` – who answers in this channel; `/interlude agent <name>` changes it, for admins',
].join('\n');

async function agent(
  context: SlackContext,
  workspace: SlackWorkspace,
  { channel, slackUser }: SlackCommand,
  name: string,
): Promise<string> {
  const { threads } = context.slack;
  const { agents } = context.service;
  const { team } = workspace;
  const titleOf = (agentName: string) => agents.get(agentName)?.title ?? agentName;
  if (name === '') {
    const current = await threads.agentOf(team, channel);
    const list = [...agents.values()].map((one) => `\`${one.name}\` (${one.title})`).join(', ');
    return `Here answers ${titleOf(current)}. There are: ${list}.`;
  }
  if (!(await linkedHere(context, workspace, slackUser))) return notLinked;
  if (!(await profileOf(workspace, slackUser)).isAdmin)
    return 'Only admins of this workspace choose who answers in a channel.';
  if (!agents.has(name))
    return `There is no agent of this name. There are: ${[...agents.keys()].join(', ')}.`;
  await threads.chooseAgent(team, channel, name);
  return `New threads in this channel are answered by ${titleOf(name)}.`;
}

async function link(
  context: SlackContext,
  workspace: SlackWorkspace,
  { channel, slackUser, text }: SlackCommand,
): Promise<string> {
  const [other] = mentionsIn(text);
  if (other === undefined || other === slackUser) {
    const place = { channel, slackUser, threadTs: null, isDirect: false };
    await offerLink(context, workspace, place, { again: true });
    return 'Open the link that only you see here. It works for 30 minutes.';
  }
  if (!(await linkedHere(context, workspace, slackUser))) return notLinked;
  if (!(await profileOf(workspace, slackUser)).isAdmin)
    return 'Only admins of this workspace send links to others.';
  const { channel: direct } = await workspace.client.conversations.open({ users: other });
  if (direct?.id === undefined) return 'I cannot write to them.';
  const place = { channel: direct.id, slackUser: other, threadTs: null, isDirect: true };
  await offerLink(context, workspace, place, { again: true });
  return `I have sent a link to <@${other}>, in our direct messages.`;
}

async function unlink(
  context: SlackContext,
  workspace: SlackWorkspace,
  { slackUser }: SlackCommand,
): Promise<string> {
  const principal = await linkedHere(context, workspace, slackUser);
  if (!principal) return notLinked;
  await context.slack.links.remove({ team: workspace.team, slackUser }, principal, null);
  return 'I do not know you any more. What you wrote to me from here on needs a new link.';
}

async function questions(
  context: SlackContext,
  workspace: SlackWorkspace,
  { slackUser }: SlackCommand,
): Promise<string> {
  const principal = await linkedHere(context, workspace, slackUser);
  if (!principal) return notLinked;
  const open = await context.service.questionsOf(principal);
  const page = `<${context.http.publicUrl}/connections|your page>`;
  if (open.length === 0) return `Nothing waits for you. What you have connected is on ${page}.`;
  const count = open.length === 1 ? 'One question waits' : `${open.length} questions wait`;
  return `${count} for you: in the threads where they were asked, and on ${page}.`;
}

async function stop(
  context: SlackContext,
  workspace: SlackWorkspace,
  { channel, slackUser }: SlackCommand,
): Promise<string> {
  const principal = await linkedHere(context, workspace, slackUser);
  if (!principal) return notLinked;
  const { team } = workspace;
  const count = await context.slack.stop.inChannel(principal, { team, channel, slackUser });
  return count === 0 ? stopWords.idle : stopWords.stopped;
}

const notLinked = notShownWords['not-linked'];

function linkedHere(
  { slack }: SlackContext,
  { team, tenant }: SlackWorkspace,
  slackUser: string,
): Promise<UserPrincipal | null> {
  return slack.links.principalOf({ team, slackUser }, tenant);
}

const id = z.string().min(1).max(100);
const commandSchema = z.object({
  team_id: id,
  channel_id: id,
  user_id: id,
  text: z.string().max(4_000).default(''),
});

export const notInstalled = 'The app is not installed in this workspace.';

/** `run`: `SlackApp.runCommand`. */
export async function answerCommand(
  run: (team: string, command: SlackCommand) => Promise<string | null>,
  fields: unknown,
) {
  const command = parseInput(commandSchema, fields);
  const { team_id: team, channel_id: channel, user_id: slackUser, text } = command;
  const answer = await run(team, { channel, slackUser, text });
  if (answer === null) throw new ProblemError('forbidden', notInstalled);
  return { response_type: 'ephemeral', text: answer };
}
