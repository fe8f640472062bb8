import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/landing.ts'
import { CellArt } from '../../kit/block-art.tsx'
import { useNear } from '../../kit/use-near.ts'
import classes from './occupancy.module.css'

/** With fewer cells it does not look like a picture. */
const FEWEST = 12
/** An empty grid of the largest size. */
const UNKNOWN = Array.from({ length: 240 }, () => 0)

type Props = {
  id: number
  /** Shows the description below the picture, not only as its accessible name. */
  caption?: boolean
}

/** The leased parts of a product's addresses, as the server measures them. An empty grid if they are unknown. */
export function OccupancyArt({ id, caption = false }: Props) {
  const t = useT()
  const [ref, near] = useNear<HTMLElement>('300px')
  const { data } = useQuery({
    ...read(catalog.occupancy, { params: { id } }),
    enabled: near,
    staleTime: 60_000,
    refetchOnWindowFocus: false
  })
  const cells = data && data.cells.length >= FEWEST ? data.cells : undefined
  return (
    <figure ref={ref} className={classes.figure}>
      <CellArt
        ratio={caption ? 4.2 : 2.2}
        cells={cells ?? UNKNOWN}
        label={cells && t('occupancy.label')}
        className={classes.art}
      />
      {caption && <figcaption className={classes.caption}>{cells && t('occupancy.caption')}</figcaption>}
    </figure>
  )
}
