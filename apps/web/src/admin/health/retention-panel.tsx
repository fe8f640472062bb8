import type { RetentionFigures } from '@netlet/contract'
import { Skeleton, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'

/** What grows in the database: how long it is kept, how much there is, and what was removed last. */
export function RetentionPanel() {
  const t = useT()
  const { data, error, refetch } = useQuery(read(settings.retention))
  if (error && !data)
    return <ErrorState error={error} fallback={t('retention.failed')} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} aria-busy />
  return (
    <section aria-label={t('retention.title')}>
      <h3>{t('retention.title')}</h3>
      <Table.ScrollContainer minWidth={640}>
        <Table aria-label={t('retention.title')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('retention.what')}</Table.Th>
              <Table.Th>{t('retention.kept')}</Table.Th>
              <Table.Th>{t('retention.rows')}</Table.Th>
              <Table.Th>{t('retention.oldest')}</Table.Th>
              <Table.Th>{t('retention.removed')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map(entry => (
              <Table.Tr key={entry.what} title={entry.why}>
                <Table.Td>{t(`retention.of.${entry.what}`)}</Table.Td>
                <Table.Td>
                  <Kept entry={entry} />
                </Table.Td>
                <Table.Td>{entry.rows?.toLocaleString('en-US') ?? '–'}</Table.Td>
                <Table.Td>{entry.oldest ? <Ago at={entry.oldest} /> : '–'}</Table.Td>
                <Table.Td>
                  {entry.removed_at ? (
                    <>
                      {entry.removed.toLocaleString('en-US')}, <Ago at={entry.removed_at} />
                    </>
                  ) : (
                    '–'
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  )
}

/** '30 days'; of what is removed as soon as it expires it says so. */
function Kept({ entry: { keep_hours: hours } }: { entry: RetentionFigures }) {
  const t = useT()
  const language = useLanguage()
  if (hours === 0) return t('retention.untilExpiry')
  const [value, unit] = hours >= 48 ? [hours / 24, 'day'] : hours >= 1 ? [hours, 'hour'] : [hours * 60, 'minute']
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(Math.round(value))
}
