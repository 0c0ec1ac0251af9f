import { useReactFlow } from '@xyflow/react';
import type { ReactNode } from 'react';
import { Button } from '../components/button.js';

interface ZoomButtonsProps {
  readonly onFit: () => void;
  /** Called when the user zooms. */
  readonly onZoom: () => void;
}

/** Above the graph, so that they don't cover steps. */
export function ZoomButtons({ onFit, onZoom }: ZoomButtonsProps): ReactNode {
  const { zoomIn, zoomOut } = useReactFlow();
  const zoom = (change: () => Promise<boolean>): void => {
    onZoom();
    void change();
  };
  return (
    <div className="graph-zoom">
      <Button isSmall label="Zoom in" onPress={() => zoom(zoomIn)}>
        +
      </Button>
      <Button isSmall label="Zoom out" onPress={() => zoom(zoomOut)}>
        −
      </Button>
      <Button isSmall onPress={onFit}>
        Fit
      </Button>
    </div>
  );
}
