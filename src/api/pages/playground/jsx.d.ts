import type { DetailedHTMLProps, HTMLAttributes, RefObject } from 'react';
import type { InterludeChat } from '@interlude-ai/widget/element.tsx';

declare module 'react' {
  // eslint-disable-next-line typescript/no-namespace -- how React lets elements be added
  namespace JSX {
    interface IntrinsicElements {
      'interlude-chat': DetailedHTMLProps<HTMLAttributes<HTMLElement>, HTMLElement> & {
        ref?: RefObject<InterludeChat | null>;
        conversation?: string | undefined;
        agent?: string | undefined;
        images?: boolean | undefined;
        api?: string;
      };
    }
  }
}
