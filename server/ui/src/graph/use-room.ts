import { useLayoutEffect, useState, type RefObject } from 'react';

interface Room {
  /** The width of the element. */
  readonly width: number;
  readonly windowHeight: number;
}

/**
 * The space available to an element, updated when a panel beside it opens or the window changes. Null before it is measured.
 */
export function useRoom(element: RefObject<HTMLElement | null>): Room | null {
  const [room, setRoom] = useState<Room | null>(null);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const measure = (): void => {
      const [width, windowHeight] = [current.clientWidth, window.innerHeight];
      if (width === 0) return;
      setRoom((before) =>
        before?.width === width && before.windowHeight === windowHeight
          ? before
          : { width, windowHeight },
      );
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    window.addEventListener('resize', measure);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', measure);
    };
  }, [element]);
  return room;
}
