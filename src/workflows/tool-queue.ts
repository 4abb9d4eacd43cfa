/** Polled only by workers that run this bundle's code, for as long as a call of it goes on. */
export function toolQueueName(taskQueue: string, bundle: string): string {
  return `${taskQueue}/tools/${bundle}`;
}
