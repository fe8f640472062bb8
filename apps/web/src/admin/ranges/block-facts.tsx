import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { IconZoomIn } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { blockText, type Block } from './picture.tsx'
import classes from './ranges.module.css'

/** The selected block in words, with links into it and to its orders. */
export function BlockFacts({ block, units, onOpen }: { block: Block; units: number; onOpen: () => void }) {
  const t = useT()
  return (
    <div className={classes.facts}>
      <p aria-live="polite">{blockText(t, block)}</p>
      {units > 1 && (
        <Button size="compact-sm" variant="default" leftSection={<IconZoomIn size={15} aria-hidden />} onClick={onOpen}>
          {t('ranges.open')}
        </Button>
      )}
      <Link to={`${pageAt('addresses')}?${new URLSearchParams({ address: block.part, from: 'now' })}`}>
        {t('ranges.ordersThere')}
      </Link>
    </div>
  )
}
