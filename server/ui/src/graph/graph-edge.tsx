import { BaseEdge, EdgeLabelRenderer, type Edge, type EdgeProps } from '@xyflow/react';
import type { ReactNode } from 'react';
import type { Box } from './graph-family.js';
import { shortLabel, type Point } from './layout-graph.js';

export interface RoutedEdgeData extends Record<string, unknown> {
  readonly points: readonly Point[];
  readonly label: string | null;
  readonly labelBox: Box | null;
  /** Whether the run has followed it. */
  readonly isTaken: boolean;
}

export type RoutedEdgeType = Edge<RoutedEdgeData, 'routed'>;

const CORNER = 7;

/** A line along the route from the layout. */
export function RoutedEdge({ data, markerEnd }: EdgeProps<RoutedEdgeType>): ReactNode {
  if (data === undefined) return null;
  const { points, label, labelBox, isTaken } = data;
  return (
    <>
      <BaseEdge path={roundedPath(points)} {...(markerEnd !== undefined && { markerEnd })} />
      {label !== null && labelBox !== null && (
        <EdgeLabelRenderer>
          <div
            className={isTaken ? 'edge-label taken' : 'edge-label'}
            title={isTaken ? `${label} (taken)` : label}
            style={{
              transform: `translate(${labelBox.x}px, ${labelBox.y}px)`,
              width: labelBox.width,
              height: labelBox.height,
            }}
          >
            <bdi>{shortLabel(label)}</bdi>
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

/** An SVG path through the points, with rounded corners. */
export function roundedPath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = [`M${first.x},${first.y}`];
  let from = first;
  for (const [index, corner] of rest.entries()) {
    const to = rest[index + 1];
    if (to === undefined) {
      parts.push(`L${corner.x},${corner.y}`);
      break;
    }
    const enter = towards(corner, from);
    const leave = towards(corner, to);
    parts.push(`L${enter.x},${enter.y}Q${corner.x},${corner.y} ${leave.x},${leave.y}`);
    from = corner;
  }
  return parts.join('');
}

/** The point at the corner's radius from the corner, or halfway if that is nearer. */
function towards(corner: Point, other: Point): Point {
  const length = Math.hypot(other.x - corner.x, other.y - corner.y);
  if (length === 0) return corner;
  const part = Math.min(CORNER, length / 2) / length;
  return {
    x: round(corner.x + (other.x - corner.x) * part),
    y: round(corner.y + (other.y - corner.y) * part),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
