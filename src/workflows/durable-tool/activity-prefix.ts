/** Names of activities in history begin with this, so that an author's cannot be taken for one of ours. */
export const activityPrefix = 'tool.';
