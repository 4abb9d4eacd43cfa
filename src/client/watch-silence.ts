/** Notices a connection on which nothing comes any more, which no error ever reports. */

export interface SilenceWatch {
  /** Aborts after silence, or when the reader stops. */
  signal: AbortSignal;
  /** Something came. */
  alive(): void;
  /** Ends the watch, and whatever still hangs on its signal. */
  stop(): void;
}

export function watchSilence(silenceMs: number, reader: AbortSignal | undefined): SilenceWatch {
  const controller = new AbortController();
  const begin = () => setTimeout(() => controller.abort(new Error('The connection fell silent.')), silenceMs);
  let timer = begin();
  return {
    signal: reader ? AbortSignal.any([reader, controller.signal]) : controller.signal,
    alive() {
      clearTimeout(timer);
      timer = begin();
    },
    stop() {
      clearTimeout(timer);
      controller.abort();
    },
  };
}
