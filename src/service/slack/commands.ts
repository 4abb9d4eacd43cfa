/** `/interlude …` in Slack: what its words do. Answers are shown to whoever typed it, and to nobody else. */
import type { Config } from '../../config/config.ts';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { mentionsIn } from '../../slack/message-text.ts';
import type { LinkedPerson } from '../../storage/ports/slack.ts';
import type { Principal } from '../principal.ts';
import type { Question } from '../questions.ts';
import { refusalWords } from './find-asked.ts';
import type { SlackLinks } from './links.ts';
import { stopInChannel, stopWords } from './stop.ts';
import type { StopParts } from './stop.ts';
import { profileOf } from './who.ts';

export interface SlackCommand {
  channel: string;
  slackUser: string;
  text: string;
}

interface Parts extends StopParts {
  config: Pick<Config, 'agents' | 'http'>;
  links: SlackLinks;
  questionsOf(principal: Principal): Promise<Question[]>;
}

export type RunCommand = (workspace: SlackWorkspace, command: SlackCommand) => Promise<string>;

export function createCommands(parts: Parts): RunCommand {
  return async (workspace, command) => {
    const [word = '', ...rest] = command.text.trim().split(/\s+/);
    switch (word.toLowerCase()) {
      case 'agent':
        return agent(parts, workspace, command, rest.join(' '));
      case 'link':
        return link(parts, workspace, command);
      case 'unlink':
        return unlink(parts, workspace, command);
      case 'stop':
        return stop(parts, workspace, command);
      case 'questions':
        return questions(parts, workspace, command);
      default:
        return help;
    }
  };
}

const help = [
  'Mention me in a channel, or write to me directly. In the thread of my answer you need not mention me again.',
  '• `/interlude questions` – what waits for you',
  '• `/interlude stop` – ends what I am doing for you in this channel',
  '• `/interlude link`, `/interlude unlink` – whose accounts I use for you',
  '• `/interlude agent` – who answers in this channel; `/interlude agent <name>` changes it, for admins',
].join('\n');

async function agent(
  { storage, config, links }: Parts,
  workspace: SlackWorkspace,
  { channel, slackUser }: SlackCommand,
  name: string,
): Promise<string> {
  const { threads } = storage.slack;
  const { team } = workspace;
  const [first = ''] = config.agents.keys();
  const titleOf = (agentName: string) => config.agents.get(agentName)?.title ?? agentName;
  if (name === '') {
    const current = (await threads.agentOf(team, channel)) ?? first;
    const list = [...config.agents.values()].map((one) => `\`${one.name}\` (${one.title})`).join(', ');
    return `Here answers ${titleOf(current)}. There are: ${list}.`;
  }
  if (!(await linkedHere(links, workspace, slackUser))) return notLinked;
  if (!(await profileOf(workspace, slackUser)).isAdmin)
    return 'Only admins of this workspace choose who answers in a channel.';
  if (!config.agents.has(name))
    return `There is no agent of this name. There are: ${[...config.agents.keys()].join(', ')}.`;
  await threads.setAgent(team, channel, name === first ? null : name);
  return `New threads in this channel are answered by ${titleOf(name)}.`;
}

async function link(
  { links }: Parts,
  workspace: SlackWorkspace,
  { channel, slackUser, text }: SlackCommand,
): Promise<string> {
  const [other] = mentionsIn(text);
  if (other === undefined || other === slackUser) {
    await links.offer(workspace, { channel, slackUser, threadTs: null, isDirect: false }, true);
    return 'Open the link that only you see here. It works for 30 minutes.';
  }
  if (!(await linkedHere(links, workspace, slackUser))) return notLinked;
  if (!(await profileOf(workspace, slackUser)).isAdmin)
    return 'Only admins of this workspace send links to others.';
  const { channel: direct } = await workspace.client.conversations.open({ users: other });
  if (direct?.id === undefined) return 'I cannot write to them.';
  await links.offer(
    workspace,
    { channel: direct.id, slackUser: other, threadTs: null, isDirect: true },
    true,
  );
  return `I have sent a link to <@${other}>, in our direct messages.`;
}

async function unlink(
  { links }: Parts,
  workspace: SlackWorkspace,
  { slackUser }: SlackCommand,
): Promise<string> {
  const person = await linkedHere(links, workspace, slackUser);
  if (!person) return notLinked;
  await links.remove(person, { kind: 'user', tenant: person.tenant, user: person.user }, null);
  return 'I do not know you any more. What you wrote to me from here on needs a new link.';
}

async function questions(
  { config, links, questionsOf }: Parts,
  workspace: SlackWorkspace,
  { slackUser }: SlackCommand,
): Promise<string> {
  const person = await linkedHere(links, workspace, slackUser);
  if (!person) return notLinked;
  const open = await questionsOf({ kind: 'user', tenant: person.tenant, user: person.user });
  const page = `<${config.http.publicUrl}/connections|your page>`;
  if (open.length === 0) return `Nothing waits for you. What you have connected is on ${page}.`;
  const count = open.length === 1 ? 'One question waits' : `${open.length} questions wait`;
  return `${count} for you: in the threads where they were asked, and on ${page}.`;
}

async function stop(
  parts: Parts,
  workspace: SlackWorkspace,
  { channel, slackUser }: SlackCommand,
): Promise<string> {
  const person = await linkedHere(parts.links, workspace, slackUser);
  if (!person) return notLinked;
  const principal = { kind: 'user', tenant: person.tenant, user: person.user } as const;
  const count = await stopInChannel(parts, workspace, { principal, channel, slackUser });
  return count === 0 ? stopWords.idle : stopWords.stopped;
}

const notLinked = refusalWords['not-linked'];

async function linkedHere(
  links: SlackLinks,
  { team, tenant }: SlackWorkspace,
  slackUser: string,
): Promise<LinkedPerson | null> {
  const person = await links.linked({ team, slackUser });
  return person?.tenant === tenant ? person : null;
}
