/** Holds the code of a call for as long as it goes on: whoever runs other code does not poll here. */
export function toolQueueName(taskQueue: string, bundle: string): string {
  return `${taskQueue}/tools/${bundle}`;
}
