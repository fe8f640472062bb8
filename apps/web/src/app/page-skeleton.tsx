import { Skeleton } from '@mantine/core'
import { useT } from '../i18n/index.ts'

/** A placeholder while code or session loads. As tall as the window, so that the footer does not move. */
export function PageSkeleton() {
  const t = useT()
  return (
    <div className="wide page stack" style={{ minHeight: '100vh' }} role="status" aria-label={t('loading')}>
      <Skeleton height={38} width="min(22rem, 70%)" />
      <Skeleton height={18} width="min(34rem, 90%)" />
      <Skeleton height={280} radius="md" mt="md" />
    </div>
  )
}
