import { useCallback, useRef, useState } from 'react';

/** As of now, and not of what was drawn last. */
interface Count {
  underWay: number;
  begun: number;
}

export interface Requests {
  isUnderWay: boolean;
  count: { readonly current: Count };
  /** What it returns says that the request is over, once. */
  onRequest: () => () => void;
}

/**
 * The requests of `useChat` that are under way. It allows several at once, and its status is that of the one that spoke
 * last: the stream of a turn that gives way to a message says `ready` while that message is on its way.
 */
export function useRequests(): Requests {
  const count = useRef<Count>({ underWay: 0, begun: 0 });
  const [underWay, setUnderWay] = useState(0);
  const onRequest = useCallback(() => {
    let isOver = false;
    count.current.begun += 1;
    setUnderWay((count.current.underWay += 1));
    return () => {
      if (isOver) return;
      isOver = true;
      setUnderWay((count.current.underWay -= 1));
    };
  }, []);
  return { isUnderWay: underWay > 0, count, onRequest };
}
