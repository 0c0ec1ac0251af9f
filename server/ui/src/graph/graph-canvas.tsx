/** Draws the nodes and edges at the positions from the layout. In a separate chunk. */
import {
  Background,
  BackgroundVariant,
  MarkerType,
  MiniMap,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  type Edge,
  type Node,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Button } from '../components/button.js';
import { Loading } from '../components/loading.js';
import { GraphContext, type GraphView } from './graph-context.js';
import { RoutedEdge, type RoutedEdgeType } from './graph-edge.js';
import type { GraphModel } from './graph-model.js';
import { NODE_TYPES, type PlacedNodeData } from './graph-nodes.js';
import { startView } from './graph-view.js';
import type { PlacedGraph } from './layout-graph.js';
import { layoutInWorker } from './layout-worker.js';
import type { WorkflowGraphProps } from './workflow-graph.js';

interface GraphCanvasProps extends WorkflowGraphProps {
  readonly model: GraphModel;
  /** Called if the graph cannot be drawn. */
  readonly onFailure: () => void;
}

const EDGE_TYPES = { routed: RoutedEdge };
/** Above this number, only visible nodes are rendered, and there is a map. */
const MANY_NODES = 120;
const HEIGHT_MIN = 220;
const HEIGHT_MAX = 640;

export default function GraphCanvas(props: GraphCanvasProps): ReactNode {
  const { model, states, selectedStepId, onSelectStep, onFailure } = props;
  const placed = usePlacedGraph(model, onFailure);
  const view = useMemo<GraphView>(
    () => ({ states, selectedStepId: selectedStepId ?? null, onSelectStep }),
    [states, selectedStepId, onSelectStep],
  );
  if (placed === null) return <Loading />;
  const height = Math.min(HEIGHT_MAX, Math.max(HEIGHT_MIN, placed.height + 24));
  return (
    <GraphContext value={view}>
      <ReactFlowProvider>
        <div className="graph-canvas" style={{ height }}>
          <Drawing placed={placed} />
        </div>
      </ReactFlowProvider>
    </GraphContext>
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

function Drawing({ placed }: { readonly placed: PlacedGraph }): ReactNode {
  const nodes = useMemo(() => flowNodes(placed), [placed]);
  const edges = useMemo(() => flowEdges(placed), [placed]);
  const frame = useRef<HTMLDivElement>(null);
  const { setViewport } = useReactFlow();
  useEffect(() => {
    const box = frame.current?.getBoundingClientRect();
    if (box !== undefined) void setViewport(startView(placed, box));
  }, [placed, setViewport]);
  const isLarge = nodes.length > MANY_NODES;
  return (
    <ReactFlow
      ref={frame}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      onlyRenderVisibleElements={isLarge}
      minZoom={0.04}
      maxZoom={1.6}
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
      {isLarge && <MiniMap pannable zoomable className="graph-map" ariaLabel="Map of the graph" />}
      <ZoomButtons />
    </ReactFlow>
  );
}

function ZoomButtons(): ReactNode {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  return (
    <Panel position="top-right" className="graph-zoom">
      <Button isSmall label="Zoom in" onPress={() => void zoomIn()}>
        +
      </Button>
      <Button isSmall label="Zoom out" onPress={() => void zoomOut()}>
        −
      </Button>
      <Button isSmall onPress={() => void fitView({ padding: 0.06, maxZoom: 1 })}>
        Fit
      </Button>
    </Panel>
  );
}

function flowNodes(placed: PlacedGraph): Node<PlacedNodeData>[] {
  return placed.nodes.map(({ node, x, y, width, height }) => ({
    id: node.id,
    type: node.kind,
    position: { x, y },
    width,
    height,
    ...(node.parentId !== null && { parentId: node.parentId }),
    data: { node },
  }));
}

function flowEdges(placed: PlacedGraph): RoutedEdgeType[] {
  return placed.edges.map(({ edge, points, labelAt }, index): RoutedEdgeType & Edge => ({
    id: String(index),
    type: 'routed',
    source: edge.sourceId,
    target: edge.targetId,
    // Above the containers, whose background would hide the edge.
    zIndex: 1000,
    className: `edge-${edge.kind}${edge.isBackward ? ' edge-backward' : ''}`,
    markerEnd: {
      type: MarkerType.ArrowClosed,
      width: 16,
      height: 16,
      color: edge.isBackward ? 'var(--accent)' : 'var(--line-strong)',
    },
    data: { points, label: edge.label, labelAt },
  }));
}
