import { useEffect, useState } from 'react';

/** Whether somebody has left the page, for another window or tab, and come back to it since this was there. */
export function useReturn(): boolean {
  const [hasReturned, setReturned] = useState(false);
  useEffect(() => {
    let hasLeft = false;
    const listening = new AbortController();
    const looked = () => {
      if (document.hidden) hasLeft = true;
      else if (hasLeft) setReturned(true);
    };
    const left = () => {
      hasLeft = true;
    };
    const { signal } = listening;
    document.addEventListener('visibilitychange', looked, { signal });
    window.addEventListener('blur', left, { signal });
    window.addEventListener('focus', looked, { signal });
    return () => listening.abort();
  }, []);
  return hasReturned;
}
