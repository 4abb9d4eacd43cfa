/** What the workflow bundle exports: its workflow types. */
export { agentTurn } from './agent-turn.ts';
export { pushNotifications } from './push-notifications.ts';
export { slackDelivery } from './slack-delivery.ts';
