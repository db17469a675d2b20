import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { PreviewBox } from '../order/preview-box.tsx';

/** Shows the number, the sum and the effects of a bulk refund that has not started. */
export function BulkPreview({ runId, title }: { readonly runId: string; readonly title: string }) {
  const preview = useQuery({
    queryKey: ['/bulk', runId, 'preview'],
    queryFn: ({ signal }) => api.get('/bulk/{runId}/preview', { runId }, signal),
  });
  return <PreviewBox title={title} preview={preview.data} error={preview.error} isAlreadyAsked />;
}
