/** Draws the nodes and edges at the positions from the layout. In a separate chunk. */
import {
  Background,
  BackgroundVariant,
  MarkerType,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  type Edge,
  type Node,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Loading } from '../components/loading.js';
import { GraphContext, type GraphView } from './graph-context.js';
import { RoutedEdge, type RoutedEdgeType } from './graph-edge.js';
import type { GraphModel } from './graph-model.js';
import { NODE_TYPES, type PlacedNodeData } from './graph-nodes.js';
import { frameHeight, isTooWide, wholeZoom, type Size } from './graph-view.js';
import type { PlacedEdge, PlacedGraph } from './layout-graph.js';
import { layoutInWorker } from './layout-worker.js';
import type { TakenPath } from './taken-path.js';
import { useGraphView } from './use-graph-view.js';
import { useRoom } from './use-room.js';
import type { WorkflowGraphProps } from './workflow-graph.js';
import { ZoomButtons } from './zoom-buttons.js';

interface GraphCanvasProps extends WorkflowGraphProps {
  readonly model: GraphModel;
  readonly path: TakenPath | undefined;
  /** The node to show if not everything fits. */
  readonly focusNodeId: string | null;
  /** Called if the graph cannot be drawn. */
  readonly onFailure: () => void;
  /** Called if the graph does not fit on a narrow screen. */
  readonly onTooWide: () => void;
}

const EDGE_TYPES = { routed: RoutedEdge };
/** Above this number, only visible nodes are rendered, and there is a map. */
const MANY_NODES = 120;
/** A phone. */
const NARROW = 500;
const ZOOM_MIN = 0.1;

export default function GraphCanvas(props: GraphCanvasProps): ReactNode {
  const { model, onFailure, onTooWide } = props;
  const placed = usePlacedGraph(model, onFailure);
  const frame = useRef<HTMLDivElement>(null);
  const room = useRoom(frame);
  const isCropped =
    placed !== null && room !== null && room.width < NARROW && isTooWide(placed, room.width);
  useLayoutEffect(() => {
    if (isCropped) onTooWide();
  }, [isCropped, onTooWide]);
  const size = useMemo<Size | null>(
    () =>
      placed === null || room === null
        ? null
        : { width: room.width, height: frameHeight(placed, room.width, room.windowHeight) },
    [placed, room],
  );
  return (
    <div className="graph-canvas">
      <div className="graph-frame" ref={frame}>
        {placed === null || size === null ? (
          <Loading />
        ) : (
          <ReactFlowProvider>
            <Drawing {...props} placed={placed} size={size} />
          </ReactFlowProvider>
        )}
      </div>
    </div>
  );
}

/** Keeps the last layout until the next one is ready, so that a preview does not flicker. */
function usePlacedGraph(model: GraphModel, onFailure: () => void): PlacedGraph | null {
  const [placed, setPlaced] = useState<PlacedGraph | null>(null);
  const fail = useRef(onFailure);
  useEffect(() => {
    fail.current = onFailure;
  });
  useEffect(() => {
    const stop = new AbortController();
    layoutInWorker(model, stop.signal).then(
      (next) => {
        if (!stop.signal.aborted) setPlaced(next);
      },
      () => {
        if (!stop.signal.aborted) fail.current();
      },
    );
    return () => stop.abort();
  }, [model]);
  return placed;
}

interface DrawingProps extends GraphCanvasProps {
  readonly placed: PlacedGraph;
  readonly size: Size;
}

function Drawing(props: DrawingProps): ReactNode {
  const { placed, size, path, focusNodeId } = props;
  const { states, marks, runCounts, selectedStepId, onSelectStep } = props;
  const nodes = useMemo(() => flowNodes(placed), [placed]);
  const edges = useMemo(() => flowEdges(placed, path), [placed, path]);
  const { first, fit, keep } = useGraphView(placed, size, focusNodeId);
  const view = useMemo<GraphView>(
    () => ({
      states,
      marks,
      selectedStepId: selectedStepId ?? null,
      onSelectStep,
      path,
      runCounts,
      keepView: keep,
    }),
    [states, marks, selectedStepId, onSelectStep, path, runCounts, keep],
  );
  const isLarge = nodes.length > MANY_NODES;
  return (
    <GraphContext value={view}>
      <ZoomButtons onFit={fit} onZoom={keep} />
      <div style={{ height: size.height }}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          defaultViewport={first}
          onlyRenderVisibleElements={isLarge}
          // Far enough out to fit everything.
          minZoom={Math.min(ZOOM_MIN, wholeZoom(placed, size))}
          maxZoom={1.6}
          onMove={(event) => {
            // Null if the page has moved it.
            if (event !== null) keep();
          }}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          // The wheel scrolls the page; Ctrl and the wheel, or pinching, zooms.
          zoomOnScroll={false}
          preventScrolling={false}
          zoomOnDoubleClick={false}
          disableKeyboardA11y
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={22} size={1} />
          {isLarge && size.width >= NARROW && (
            <MiniMap pannable zoomable className="graph-map" ariaLabel="Map of the graph" />
          )}
        </ReactFlow>
      </div>
    </GraphContext>
  );
}

function flowNodes(placed: PlacedGraph): Node<PlacedNodeData>[] {
  return placed.nodes.map(({ node, x, y, width, height, lines }) => ({
    id: node.id,
    type: node.kind,
    position: { x, y },
    width,
    height,
    ...(node.parentId !== null && { parentId: node.parentId }),
    data: { node, lines },
  }));
}

function flowEdges(placed: PlacedGraph, path: TakenPath | undefined): RoutedEdgeType[] {
  return placed.edges.map((placedEdge, index): RoutedEdgeType & Edge => {
    const { edge, points, labelBox } = placedEdge;
    const isTaken = path?.edges.has(edge.id) ?? false;
    return {
      id: String(index),
      type: 'routed',
      source: edge.sourceId,
      target: edge.targetId,
      // Above the containers, whose background would hide the edge; taken edges above the others.
      zIndex: isTaken ? 1001 : 1000,
      className: edgeClasses(placedEdge, path),
      markerEnd: {
        type: MarkerType.ArrowClosed,
        width: isTaken ? 11 : 16,
        height: isTaken ? 11 : 16,
        color: markerColor(edge.isBackward, isTaken),
      },
      data: { points, label: edge.label, labelBox, isTaken },
    };
  });
}

function edgeClasses({ edge }: PlacedEdge, path: TakenPath | undefined): string {
  return [
    `edge-${edge.kind}`,
    ...(edge.isBackward ? ['edge-backward'] : []),
    ...(path === undefined ? [] : [path.edges.has(edge.id) ? 'edge-taken' : 'edge-untaken']),
  ].join(' ');
}

function markerColor(isBackward: boolean, isTaken: boolean): string {
  if (isTaken) return 'var(--good)';
  return isBackward ? 'var(--accent)' : 'var(--line-strong)';
}
