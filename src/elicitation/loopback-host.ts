/** Whether a host name or address, as URLs and settings write it, can only ever be this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}
