/** What the workflow bundle exports: its workflow types. */
export { agentTurn } from './agent-turn.ts';
export { pushNotifications, slackDelivery } from './deliveries.ts';
