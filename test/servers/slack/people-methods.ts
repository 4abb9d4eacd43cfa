/** Whose token it is, and who people are. */
import { MethodRefused, text, workspaceOf } from './methods.ts';
import type { Method } from './methods.ts';

export const peopleMethods: Record<string, Method> = {
  'auth.test': (call) => {
    const { id, name, botUser } = workspaceOf(call);
    return { team_id: id, team: name, user_id: botUser, bot_id: `B${id}`, url: 'https://slack.example/' };
  },
  'users.info': (call) => {
    const workspace = workspaceOf(call);
    const user = workspace.users.get(text(call.args, 'user'));
    if (!user) throw new MethodRefused('user_not_found');
    const { id, name, teamId, isBot, isGuest, isAdmin } = user;
    return {
      user: {
        id,
        team_id: teamId,
        name,
        real_name: name,
        profile: { display_name: name, real_name: name },
        is_bot: isBot,
        is_restricted: isGuest,
        is_ultra_restricted: false,
        is_admin: isAdmin,
        is_owner: false,
        ...(teamId !== workspace.id && { is_stranger: true }),
      },
    };
  },
  'conversations.open': (call) => {
    const user = text(call.args, 'users');
    if (!workspaceOf(call).users.has(user)) throw new MethodRefused('user_not_found');
    return { channel: { id: `D${user}` } };
  },
};
