/** What the app may do in a workspace; docs/slack.md says why, and the manifest there names the same. */
export const botScopes = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'chat:write',
  'commands',
  'groups:history',
  'im:history',
  'im:write',
  'mpim:history',
  'users:read',
];
