/** Whoever is writing goes on in the composer that `draw` puts in the place of the one before. */
export function keepWriting(root: ShadowRoot | null, draw: () => void): void {
  const composer = () => root?.querySelector<HTMLTextAreaElement>('.composer textarea');
  const isWriting = root?.activeElement != null && root.activeElement === composer();
  draw();
  if (isWriting) composer()?.focus();
}
