/** Markdown as Slack's streams take it, in which nobody is called: `<!channel>`, `<@U1>`, `<#C1>`. Pure. */

/** `before`: what stands before it already. An invisible character keeps the two apart that would be a call together. */
export function harmless(text: string, before = ''): string {
  const apart = text.replaceAll(/<(?=[!@#])/g, '<\u2060');
  return before.endsWith('<') && /^[!@#]/.test(text) ? `\u2060${apart}` : apart;
}
