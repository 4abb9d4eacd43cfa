/** The slash command `/interlude …`, over HTTP or the socket. Only the person who typed it sees the answer. */
import { z } from 'zod';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { mentionsIn } from './read-event.ts';
import type { UserPrincipal } from '../../service/principal.ts';
import { profileOf } from '../../remote/slack.ts';
import { ProblemError } from '../http/problems.ts';
import { parseInput } from '../http/validation.ts';
import type { SlackWords } from './vocabulary/words.ts';
import { wordsFor } from './context.ts';
import type { SlackContext } from './context.ts';
import { offerLink } from './notice.ts';

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
  const words = await wordsFor(workspace, command.slackUser);
  switch (word.toLowerCase()) {
    case 'agent':
      return agent(words, context, workspace, command, rest.join(' '));
    case 'link':
      return link(words, context, workspace, command);
    case 'unlink':
      return unlink(words, context, workspace, command);
    case 'stop':
      return stop(words, context, workspace, command);
    case 'questions':
      return questions(words, context, workspace, command);
    default:
      return words.help;
  }
}

async function agent(
  words: SlackWords,
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
    return words.whoAnswersHere(titleOf(current), list);
  }
  if (!(await linkedHere(context, workspace, slackUser))) return words.notShown['not-linked'];
  if (!(await profileOf(workspace, slackUser)).isAdmin) return words.onlyAdminsChoose;
  if (!agents.has(name)) return words.noSuchAgent([...agents.keys()].join(', '));
  await threads.chooseAgent(team, channel, name);
  return words.answersNewThreads(titleOf(name));
}

async function link(
  words: SlackWords,
  context: SlackContext,
  workspace: SlackWorkspace,
  { channel, slackUser, text }: SlackCommand,
): Promise<string> {
  const [other] = mentionsIn(text);
  if (other === undefined || other === slackUser) {
    const place = { channel, slackUser, threadTs: null, isDirect: false };
    await offerLink(context, workspace, place, { again: true });
    return words.openTheLink;
  }
  if (!(await linkedHere(context, workspace, slackUser))) return words.notShown['not-linked'];
  if (!(await profileOf(workspace, slackUser)).isAdmin) return words.onlyAdminsSendLinks;
  const { channel: direct } = await workspace.client.conversations.open({ users: other });
  if (direct?.id === undefined) return words.cannotWriteToThem;
  const place = { channel: direct.id, slackUser: other, threadTs: null, isDirect: true };
  await offerLink(context, workspace, place, { again: true });
  return words.sentLinkTo(`<@${other}>`);
}

async function unlink(
  words: SlackWords,
  context: SlackContext,
  workspace: SlackWorkspace,
  { slackUser }: SlackCommand,
): Promise<string> {
  const principal = await linkedHere(context, workspace, slackUser);
  if (!principal) return words.notShown['not-linked'];
  await context.slack.links.remove({ team: workspace.team, slackUser }, principal, null);
  return words.unlinked;
}

async function questions(
  words: SlackWords,
  context: SlackContext,
  workspace: SlackWorkspace,
  { slackUser }: SlackCommand,
): Promise<string> {
  const principal = await linkedHere(context, workspace, slackUser);
  if (!principal) return words.notShown['not-linked'];
  const open = await context.service.questionsOf(principal);
  const page = `<${context.http.publicUrl}/connections|${words.yourPage}>`;
  if (open.length === 0) return words.noQuestions(page);
  return words.questions(open.length, page);
}

async function stop(
  words: SlackWords,
  context: SlackContext,
  workspace: SlackWorkspace,
  { channel, slackUser }: SlackCommand,
): Promise<string> {
  const principal = await linkedHere(context, workspace, slackUser);
  if (!principal) return words.notShown['not-linked'];
  const { team } = workspace;
  const count = await context.slack.stop.inChannel(principal, { team, channel, slackUser });
  return count === 0 ? words.stops.idle : words.stops.stopped;
}

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
