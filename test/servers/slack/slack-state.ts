/** What the fake Slack knows: workspaces, their people and tokens. The parts of the fake keep the rest themselves. */
import { randomBytes } from 'node:crypto';

export interface SlackUser {
  id: string;
  name: string;
  /** Of another workspace where the channel is shared: Slack Connect. */
  teamId: string;
  isBot: boolean;
  isGuest: boolean;
  isAdmin: boolean;
  /** The language of their Slack. */
  locale: string;
}

export interface Workspace {
  id: string;
  name: string;
  botToken: string;
  botUser: string;
  users: Map<string, SlackUser>;
  addUser(id: string, more?: Partial<Omit<SlackUser, 'id'>>): SlackUser;
}

/** The app is installed there with this token. */
export function createWorkspace(id: string, name: string): Workspace {
  const users = new Map<string, SlackUser>();
  const addUser: Workspace['addUser'] = (userId, more = {}) => {
    const user: SlackUser = {
      id: userId,
      name: userId.toLowerCase(),
      teamId: id,
      isBot: false,
      isGuest: false,
      isAdmin: false,
      locale: 'en-US',
      ...more,
    };
    users.set(userId, user);
    return user;
  };
  const botUser = `UBOT${id}`;
  addUser(botUser, { isBot: true, name: 'interlude' });
  return { id, name, botToken: newBotToken(), botUser, users, addUser };
}

function newBotToken(): string {
  return `xoxb-${randomBytes(12).toString('hex')}`;
}

let lastTs = 0;
/** Slack's time of a message, which is its id in its channel; each later than the one before. */
export function nextTs(): string {
  lastTs = Math.max(Date.now() * 1000, lastTs + 1);
  return `${Math.floor(lastTs / 1_000_000)}.${String(lastTs % 1_000_000).padStart(6, '0')}`;
}
