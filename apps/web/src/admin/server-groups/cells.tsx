import type { ServerGroup } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import classes from './groups.module.css'

/** Each links to the server. */
export const ServersCell = ({ servers }: Pick<ServerGroup, 'servers'>) => (
  <ul className={classes.servers}>
    {servers.map(({ id, name }) => (
      <li key={id}>
        <Link to={`${pageAt('servers')}?open=${id}`}>{name}</Link>
      </li>
    ))}
  </ul>
)
