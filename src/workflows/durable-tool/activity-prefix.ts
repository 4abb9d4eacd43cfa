/** Begins the names of authors' activities in history, so that none can be taken for one of ours. */
export const activityPrefix = 'tool.';
