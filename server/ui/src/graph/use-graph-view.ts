import { useReactFlow } from '@xyflow/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { isInView, openingView, wholeView, type Size, type Viewport } from './graph-view.js';
import type { PlacedGraph } from './layout-graph.js';

interface GraphViewControl {
  /** The initial view, before the library is ready. */
  readonly first: Viewport;
  /** Shows everything, even after later changes of the frame. */
  readonly fit: () => void;
  /** Keeps the user's view from now on. */
  readonly keep: () => void;
}

/** Shows the relevant node, and shows it again when the frame or the layout changes, until the user moves the graph. */
export function useGraphView(
  placed: PlacedGraph,
  size: Size,
  focusNodeId: string | null,
): GraphViewControl {
  const { setViewport, getViewport } = useReactFlow();
  const [first] = useState(() => openingView(placed, size, focusNodeId));
  const mode = useRef<'opening' | 'whole' | 'kept'>('opening');
  const shown = useRef<{ readonly placed: PlacedGraph; readonly size: Size } | null>(null);
  useEffect(() => {
    const isFirst = shown.current?.placed !== placed || shown.current.size !== size;
    shown.current = { placed, size };
    if (mode.current === 'kept') return;
    if (mode.current === 'whole') {
      void setViewport(wholeView(placed, size));
      return;
    }
    // When only the node changes, as in a running run, the graph moves as little as possible.
    const view = getViewport();
    if (!isFirst && (focusNodeId === null || isInView(placed, size, { view, nodeId: focusNodeId })))
      return;
    void setViewport(openingView(placed, size, focusNodeId));
  }, [placed, size, focusNodeId, setViewport, getViewport]);
  const fit = useCallback(() => {
    mode.current = 'whole';
    void setViewport(wholeView(placed, size));
  }, [placed, size, setViewport]);
  const keep = useCallback(() => {
    mode.current = 'kept';
  }, []);
  return { first, fit, keep };
}
